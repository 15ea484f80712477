/** Random numbers that follow from a seed. Streams with different names are independent of one another. */

export class Chance {
  readonly #seed: number;
  #state: number;

  constructor(seed: number) {
    this.#seed = mix(seed);
    this.#state = this.#seed;
  }

  /** A stream of its own: what one part draws does not change what another part gets. */
  fork(name: string): Chance {
    let hash = this.#seed;
    for (let index = 0; index < name.length; index += 1)
      hash = mix(hash ^ Math.imul(name.charCodeAt(index), 0x9e3779b1));
    return new Chance(hash);
  }

  /** A number in [0, 1). */
  readonly next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    return mix(this.#state) / 2 ** 32;
  };

  /** An integer from `least` to `most`. */
  int(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  happens(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(0, list.length - 1)] as T;
  }
}

/** Spreads every bit of the input over the 32 bits of the answer. */
function mix(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return (bits ^ (bits >>> 16)) >>> 0;
}
