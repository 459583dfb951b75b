/** The package has types for CommonJS only, but bundlers import the class. */
declare module 'elkjs/lib/elk-api.js' {
  import type { ELK, ELKConstructorArguments } from 'elkjs';
  const Elk: new (given: ELKConstructorArguments) => ELK;
  export default Elk;
}
