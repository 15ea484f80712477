/** A binary heap that can also delete from its middle. The order of its elements must not change while they are in it. */
export class Heap<T> {
  readonly #before: (a: T, b: T) => boolean;
  readonly #items: T[] = [];
  readonly #places = new Map<T, number>();

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  delete(item: T): boolean {
    const place = this.#places.get(item);
    if (place === undefined) return false;
    this.#places.delete(item);
    const last = this.#items.pop() as T;
    if (last !== item) {
      const parent = this.#items[(place - 1) >> 1];
      if (parent !== undefined && this.#before(last, parent)) this.#rise(last, place);
      else this.#sink(last, place);
    }
    return true;
  }

  #rise(item: T, place: number): void {
    while (place > 0) {
      const up = (place - 1) >> 1;
      const parent = this.#items[up] as T;
      if (!this.#before(item, parent)) break;
      this.#put(parent, place);
      place = up;
    }
    this.#put(item, place);
  }

  #sink(item: T, place: number): void {
    for (;;) {
      let down = 2 * place + 1;
      if (down >= this.#items.length) break;
      const right = down + 1;
      if (right < this.#items.length && this.#before(this.#items[right] as T, this.#items[down] as T)) down = right;
      const child = this.#items[down] as T;
      if (!this.#before(child, item)) break;
      this.#put(child, place);
      place = down;
    }
    this.#put(item, place);
  }

  #put(item: T, place: number): void {
    this.#items[place] = item;
    this.#places.set(item, place);
  }
}
