/** What people do with a change request; afterwards all that it may have changed is read again. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type Act, act } from '../../service/proposal-queries.js';
import { CHANGE, SCHEMA } from '../../service/queries.js';

export function useAct(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (what: Act) => act(id, what),
    onSettled: async () => {
      await client.invalidateQueries({ queryKey: [CHANGE, id] });
      await client.invalidateQueries({ queryKey: [SCHEMA] });
      await client.invalidateQueries({ queryKey: ['info'] });
    },
  });
}
