/** What an argument like `posts` or `posts.title` names. */
export interface NamedPlace {
  collection: string;
  field?: string;
}

/** A name with a dot in it is a collection where there is one of that name. @param managed the collections there are */
export function namedPlace(text: string, managed: ReadonlySet<string>): NamedPlace {
  if (managed.has(text) || !text.includes('.')) return { collection: text };
  const dots = [...text.matchAll(/\./g)].map(({ index }) => index);
  const end = dots.find((index) => managed.has(text.slice(0, index))) ?? text.indexOf('.');
  return { collection: text.slice(0, end), field: text.slice(end + 1) };
}
