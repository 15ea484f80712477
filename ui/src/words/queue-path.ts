/** The address of the screen of a queue. A name may contain "/" and "%", so it is not part of the path. */
export function queuePath(name: string): string {
  return `/queues/show?name=${encodeURIComponent(name)}`;
}
