/**
 * Attaches data to an object for as long as the object lives. A WeakMap could do the same, but the garbage collector
 * visits all of its entries in one pause, which takes 0.1 s for the documents of 200,000 fields. A private member of
 * the object is visited incrementally. Copies and JSON of the object do not contain the attached data.
 */
export interface Attachment<K extends object, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
}

/** The constructor returns `object` itself, so a derived class adds its private members to `object`. */
class Itself {
  constructor(object: object) {
    return object;
  }
}

/** Creates an attachment that is independent of all others. A key may be frozen. */
export function createAttachment<K extends object, V>(): Attachment<K, V> {
  class AttachmentHolder extends Itself {
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
      else void new AttachmentHolder(key, value);
    }
  }
  return AttachmentHolder;
}
