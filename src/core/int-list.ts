/** A long list of integers below 2^31 that takes four bytes each. */
export class IntList {
  #numbers: Int32Array = new Int32Array(256);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(number: number): void {
    if (this.#length === this.#numbers.length) {
      const larger = new Int32Array(this.#length * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.#length] = number;
    this.#length += 1;
  }

  at(index: number): number {
    return this.#numbers[index] as number;
  }

  set(index: number, number: number): void {
    this.#numbers[index] = number;
  }

  /** Returns the numbers from index `from` up to `to` (excluded) as a view, valid until the next change. */
  slice(from: number, to: number): Int32Array {
    return this.#numbers.subarray(from, to);
  }
}
