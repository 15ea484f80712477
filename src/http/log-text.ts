/** The output of a job as plain text and as server-sent events. */

import { isUtf8 } from 'node:buffer';
import { jobToWire } from '../api/job-wire.ts';
import { LineTimes } from '../api/line-times.ts';
import type { LogItem } from './follow-log.ts';
import { HEARTBEAT_MS, sseComment, sseEvent } from './sse.ts';

const NEWLINE = 0x0a;

/**
 * Yields the bytes as they were printed, with an extra line where some were cut or another attempt begins. With
 * `timestamps`, each line begins with the time at which it was received.
 */
export async function* logAsText(
  items: AsyncIterable<LogItem>,
  { timestamps = false }: { timestamps?: boolean } = {},
): AsyncGenerator<string | Uint8Array> {
  const times = timestamps ? new LineTimes() : null;
  let lineOpen = false;
  for await (const item of items) {
    if (item.type === 'output') {
      yield times === null ? item.data : times.push(item.data, new Date(item.receivedAt).toISOString());
      lineOpen = item.data.at(-1) !== NEWLINE;
    } else if (item.type === 'cut' || item.type === 'attempt') {
      const note = item.type === 'cut' ? `${item.bytes.toLocaleString('en')} bytes cut` : `attempt ${item.attempt}`;
      yield `${lineOpen ? '\n' : ''}… ${note} …\n`;
      lineOpen = false;
      times?.newLine();
    }
  }
}

/** Yields `output` and `cut`, and finally `end` with the job. The id of an event is the position to resume from: `<attempt>-<offset>`. */
export async function* logAsEvents(items: AsyncIterable<LogItem>): AsyncGenerator<string> {
  let held: Output | undefined;
  let quietSince = Date.now();
  const flush = (): string => {
    const text = held === undefined ? '' : outputEvent(held);
    held = undefined;
    return text;
  };
  for await (const item of items) {
    if (item.type === 'idle') {
      if (Date.now() - quietSince < HEARTBEAT_MS) continue;
      yield sseComment('alive');
    } else if (item.type === 'output') {
      const data = held === undefined ? item.data : Buffer.concat([held.data, item.data]);
      const offset = held?.offset ?? item.offset;
      const whole = wholeCharacters(data);
      held = whole < data.length ? { ...item, offset: offset + whole, data: data.subarray(whole) } : undefined;
      if (whole > 0) yield outputEvent({ ...item, offset, data: data.subarray(0, whole) });
    } else if (item.type === 'cut') {
      const { attempt, offset, bytes } = item;
      const id = `${attempt}-${offset}`;
      yield flush() + sseEvent({ event: 'cut', id, data: JSON.stringify({ attempt, offset, bytes }) });
    } else if (item.type === 'attempt') {
      yield flush();
    } else {
      yield flush() + sseEvent({ event: 'end', data: JSON.stringify(jobToWire(item.job)) });
    }
    quietSince = Date.now();
  }
}

type Output = Omit<Extract<LogItem, { type: 'output' }>, 'type'>;

function outputEvent({ attempt, offset, data, receivedAt }: Output): string {
  const id = `${attempt}-${offset + data.length}`;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(data);
  const base64 = isUtf8(data) ? {} : { base64: Buffer.from(data).toString('base64') };
  return sseEvent({
    event: 'output',
    id,
    data: JSON.stringify({ attempt, offset, text, received_at: new Date(receivedAt).toISOString(), ...base64 }),
  });
}

/** Returns the number of bytes before an incomplete UTF-8 character at the end. */
function wholeCharacters(data: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, data.length); back += 1) {
    const byte = data[data.length - back] as number;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue;
    const length = byte >= 0b1111_0000 ? 4 : byte >= 0b1110_0000 ? 3 : byte >= 0b1100_0000 ? 2 : 1;
    return length > back ? data.length - back : data.length;
  }
  return data.length;
}
