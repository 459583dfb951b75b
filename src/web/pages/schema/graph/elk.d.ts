/** The package says its types for CommonJS; what a bundler gives is the class. */
declare module 'elkjs/lib/elk-api.js' {
  import type { ELK, ELKConstructorArguments } from 'elkjs';
  const Elk: new (given: ELKConstructorArguments) => ELK;
  export default Elk;
}
