/** What to dispose of at an end, last first. Node 22 has no `DisposableStack`. */
export class Disposables implements Disposable {
  readonly #all: Disposable[] = [];

  use<T extends Disposable>(resource: T): T {
    this.#all.push(resource);
    return resource;
  }

  /** Disposes of all, even if one fails; throws the first error. */
  [Symbol.dispose](): void {
    const errors: unknown[] = [];
    for (let resource = this.#all.pop(); resource !== undefined; resource = this.#all.pop()) {
      try {
        resource[Symbol.dispose]();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
