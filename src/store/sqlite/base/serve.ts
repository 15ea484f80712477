/** The loop of a thread. Requests that have queued up share one commit. */

import { MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { groupsOn, type Served } from './group.ts';
import { send, type ThreadRequest, type ToThread } from './protocol.ts';

interface Service extends Served {
  /** The maximum number of requests that share a transaction. */
  maxGroup: number;
  close(): void;
}

/** Answers requests from `port` until it receives `close`. */
export function serve(port: MessagePort, served: Service): void {
  const answer = groupsOn(served);
  let answered = Promise.resolve();
  const receive = async (first: ToThread) => {
    const group: ThreadRequest[] = [];
    let message: ToThread | undefined = first;
    while (message !== undefined && message !== 'close') {
      group.push(message);
      message = group.length < served.maxGroup ? received(port) : undefined;
    }
    if (group.length > 0) send(port, { answers: await answer(group) });
    if (message === 'close') {
      served.close();
      send(port, { closed: true });
      endThread(port);
    }
  };
  // A group begins when the one before is answered.
  port.on('message', (first: ToThread) => {
    answered = answered.then(() => receive(first));
  });
  send(port, { ready: true });
}

/** The port to a parent of Deno is of another kind: it cannot be closed or read. */
function endThread(port: MessagePort): void {
  if (port instanceof MessagePort) port.close();
  else process.exit();
}

/** The next message, if one has come and can be read. */
function received(port: MessagePort): ToThread | undefined {
  return port instanceof MessagePort ? (receiveMessageOnPort(port)?.message as ToThread | undefined) : undefined;
}
