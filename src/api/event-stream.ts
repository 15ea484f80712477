/** Parses server-sent events. */

export interface StreamEvent {
  event: string;
  id: string | undefined;
  data: string;
}

/** Yields the events in a stream of text that may be cut anywhere. Skips comments. */
export async function* readEvents(text: AsyncIterable<string>): AsyncGenerator<StreamEvent> {
  let pending = '';
  for await (const part of text) {
    const blocks = (pending + part).replaceAll('\r\n', '\n').split('\n\n');
    pending = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parseBlock(block);
      if (event !== undefined) yield event;
    }
  }
}

function parseBlock(block: string): StreamEvent | undefined {
  let event = 'message';
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'event') event = value;
    else if (name === 'id') id = value;
    else if (name === 'data') data.push(value);
  }
  return data.length === 0 ? undefined : { event, id, data: data.join('\n') };
}
