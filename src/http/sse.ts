/** Server-sent events as text. */

export const SSE_TYPE = 'text/event-stream';

/** The longest time without a line, so that both sides notice when the other is gone. */
export const HEARTBEAT_MS = 5_000;

export function sseEvent({ event, id, data }: { event?: string; id?: string; data: string }): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}${lines.join('')}\n`;
}

export function sseComment(text: string): string {
  return `: ${text}\n\n`;
}

/** True if the caller asked for events rather than a document. */
export function wantsEvents(accept: string | undefined): boolean {
  return (accept ?? '')
    .toLowerCase()
    .split(',')
    .some((type) => type.split(';', 1)[0]?.trim() === SSE_TYPE);
}
