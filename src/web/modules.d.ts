/** The path of a Material Symbol, inserted by the build. */
declare module 'icon:*' {
  const path: string;
  export default path;
}

/** The names of all icons, separated by spaces. */
declare module 'icon-names' {
  const names: string;
  export default names;
}

/** Part of the address of every icon. It changes when any icon changes. */
declare const __ICONS__: string;

/** The titles and headings of the guides in docs/, read by the build. */
declare module 'docs:headings' {
  export interface Heading {
    /** The file name: `trash`. */
    page: string;
    title: string;
    text: string;
    /** The fragment of the heading's address. Empty for the page itself. */
    anchor: string;
  }
  /** The headings in the order of the pages, and within a page from top to bottom. */
  const headings: readonly Heading[];
  export default headings;
}

interface ImportMeta {
  /**
   * Returns the modules of matching files, each loaded on first use. The build resolves the patterns. Patterns with `!`
   * exclude files.
   */
  glob<T>(
    patterns: readonly string[],
    options: { query: '?raw' | '?url'; import: 'default' },
  ): Record<string, () => Promise<T>>;
  glob<T>(pattern: string, options: { query: '?raw' | '?url'; import: 'default'; eager: true }): Record<string, T>;
}

/** The package has types for CommonJS only, but bundlers import the class. */
declare module 'elkjs/lib/elk-api.js' {
  import type { ELK, ELKConstructorArguments } from 'elkjs';
  const Elk: new (given: ELKConstructorArguments) => ELK;
  export default Elk;
}
