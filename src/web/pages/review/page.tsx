import { getRouteApi } from '@tanstack/react-router';
import { isEmpty, useDraft } from '../../draft/index.js';
import { useMay } from '../../service/use-session.js';
import { Begin } from './begin.js';
import { Done } from './done.js';
import { RequestView } from './request-view.js';
import type { ReviewSearch } from './search.js';
import { DraftSource } from './sources/draft-source.js';
import { FileSource } from './sources/file-source.js';
import { PastSource } from './sources/past-source.js';

const route = getRouteApi('/review');

/**
 * Selected by the address: an applied batch, a request, a past state, a file, otherwise the draft or the start page.
 */
export function ReviewPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const mayPropose = useMay('propose');
  const { draft } = useDraft();
  const { to, file, change, done, bring } = search;
  const onChange = (changed: Partial<ReviewSearch>) =>
    void navigate({ search: (before: ReviewSearch) => ({ ...before, ...changed }), replace: true });
  if (done !== undefined) return <Done batch={done} />;
  if (change !== undefined) return <RequestView key={change} id={change} />;
  if (to !== undefined) return <PastSource key={to} to={String(to)} />;
  if (file !== undefined) return <FileSource key={file} search={{ ...search, file }} onChange={onChange} />;
  if (mayPropose && bring !== true && !isEmpty(draft)) return <DraftSource draft={draft} />;
  return <Begin />;
}
