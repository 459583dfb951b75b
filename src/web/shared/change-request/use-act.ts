/** Actions on a change request, which invalidate everything they may change. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type Act, act } from '../../service/proposal-queries.js';
import { CHANGE, SCHEMA } from '../../service/queries.js';
import { useAttempt } from '../use-attempt.js';

/**
 * Without a response, a retry takes effect once.
 * @param id of the change request
 */
export function useAct(id: string) {
  const client = useQueryClient();
  const { keyFor, end } = useAttempt();
  return useMutation({
    mutationFn: (what: Act) => act(id, what, (sent) => keyFor(JSON.stringify([what.action, sent]))),
    onSettled: async (_, error) => {
      end(error);
      await client.invalidateQueries({ queryKey: [CHANGE, id] });
      await client.invalidateQueries({ queryKey: [SCHEMA] });
      await client.invalidateQueries({ queryKey: ['info'] });
    },
  });
}
