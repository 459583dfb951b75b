/** The path of a Material Symbol, taken from the set when the app is built. */
declare module 'icon:*' {
  const path: string;
  export default path;
}

/** The names of all of them, with spaces between. */
declare module 'icon-names' {
  const names: string;
  export default names;
}

/** Part of the addresses of single icons: changes when any of them does. */
declare const __ICONS__: string;

/** What the guides of docs/ are called and hold, read when the app is built. */
declare module 'docs:headings' {
  export interface Heading {
    /** Of its file: `trash`. */
    page: string;
    /** Of the page. */
    title: string;
    text: string;
    /** What its address ends in; empty for the page itself. */
    anchor: string;
  }
  /** In the order of the pages, and of each from the top down. */
  const headings: readonly Heading[];
  export default headings;
}

interface ImportMeta {
  /** Modules of the files that fit, each loaded when it is called for; the builder finds them. */
  glob<T>(pattern: string, options: { query: '?raw' | '?url'; import: 'default' }): Record<string, () => Promise<T>>;
  glob<T>(pattern: string, options: { query: '?raw' | '?url'; import: 'default'; eager: true }): Record<string, T>;
}
