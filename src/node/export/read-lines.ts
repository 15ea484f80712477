/** The lines of a stream, split at line feeds alone: texts in JSON may hold other separators of lines. */

import { WorkronError } from '../../core/error.ts';

/** Rows hold at most a workflow or a piece of output. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;
const LINE_FEED = 10;

export async function* readLines(stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let pending: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      const last = chunk.subarray(from, end);
      yield pending.length === 0 ? last.toString() : Buffer.concat([...pending, last]).toString();
      [pending, bytes, from] = [[], 0, end + 1];
    }
    pending.push(chunk.subarray(from));
    bytes += chunk.length - from;
    if (bytes > MAX_LINE_BYTES) throw new WorkronError('bad_request', `a line has more than ${MAX_LINE_BYTES} bytes`);
  }
  if (bytes > 0) yield Buffer.concat(pending).toString();
}
