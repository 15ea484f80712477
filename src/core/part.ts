/**
 * A part of the program that is started or loaded by its place: the code of a thread or process. `file` is a source file in a
 * clone and a file of its own in the published package. An application that was bundled with Workron has no such file: it
 * has the code as text.
 */
export interface Part {
  file: URL;
  /** Added by the build. */
  embedded?: () => Promise<string>;
}
