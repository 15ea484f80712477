/** Parses server-sent events. */

export interface StreamEvent {
  event: string;
  id: string | undefined;
  data: string;
}

/** Yields the events in a stream of text that may be cut anywhere. Skips comments. */
export async function* readEvents(text: AsyncIterable<string>): AsyncGenerator<StreamEvent> {
  let open = '';
  let lines: string[] = [];
  for await (const part of text) {
    const [rest = '', ...others] = part.split('\n');
    // Only what is new is searched: an event may come in many parts.
    open += rest;
    for (const next of others) {
      const line = open.replace(/\r$/, '');
      open = next;
      if (line !== '') lines.push(line);
      else {
        yield* parseBlock(lines);
        lines = [];
      }
    }
  }
}

function parseBlock(lines: readonly string[]): StreamEvent[] {
  let event = 'message';
  let id: string | undefined;
  const data: string[] = [];
  for (const line of lines) {
    const [name, ...rest] = line.split(':');
    const value = rest.join(':').replace(/^ /, '');
    if (name === 'event') event = value;
    else if (name === 'id') id = value;
    else if (name === 'data') data.push(value);
  }
  return data.length === 0 ? [] : [{ event, id, data: data.join('\n') }];
}
