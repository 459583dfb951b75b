/** The path of a Material Symbol, taken from the set when the app is built. */
declare module 'icon:*' {
  const path: string;
  export default path;
}

/** Part of the addresses of single icons: changes when any of them does. */
declare const __ICONS__: string;
