/**
 * What is known of a value, kept as long as that: a WeakMap whose values are held by its keys. What a WeakMap holds, the
 * collector of garbage looks at in the pause that ends its work, for 0.1 s where that is the documents of 200,000 fields;
 * what an object holds, while the program runs. Nobody sees it: no copy has it, and no JSON.
 */
export interface Attachment<K extends object, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
}

/** Its constructor makes no object: what a class derived from it adds, it adds to `object`. */
class Itself {
  constructor(object: object) {
    return object;
  }
}

/** A new one sees nothing of the others. A key may be frozen. */
export function createAttachment<K extends object, V>(): Attachment<K, V> {
  class Attached extends Itself {
    #value: V;

    constructor(key: K, value: V) {
      super(key);
      this.#value = value;
    }

    static get(key: K): V | undefined {
      return #value in key ? key.#value : undefined;
    }

    static set(key: K, value: V): void {
      if (#value in key) key.#value = value;
      else void new Attached(key, value);
    }
  }
  return Attached;
}
