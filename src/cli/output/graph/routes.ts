/** Routes the edges between two layers: down from the source, along a track, down to the targets. */

/** All edges of one vertex to the layer below. */
export interface Net {
  source: number;
  /** The columns where it arrives. */
  targets: number[];
  /** The row of its horizontal part, from 0; `null` if it runs straight down. */
  track: number | null;
}

export interface Arrival {
  /** Nets that end here, from left to right. */
  nets: Net[];
  /** Columns that may be used. */
  from: number;
  to: number;
}

/** Assigns columns and a track to each net. Returns the number of tracks. No two nets share a line. */
export function route(nets: readonly Net[], arrivals: readonly Arrival[]): number {
  const sources = new Map(nets.map((net) => [net.source, net]));
  for (const arrival of arrivals) arrive(arrival, sources);
  const bent = nets.filter((net) => net.targets.some((target) => target !== net.source));
  // If a net leaves from the column where another arrives, it must turn before the other comes in.
  const before = new Map(
    bent.map((net) => [
      net,
      net.targets
        .flatMap((target) => sources.get(target) ?? [])
        .filter((other) => other !== net && bent.includes(other)),
    ]),
  );
  const tracks: Net[][] = [];
  const waiting = bent.toSorted((a, b) => spanOf(a)[0] - spanOf(b)[0]);
  while (waiting.length > 0) {
    const free = waiting.findIndex((net) => before.get(net)?.every((other) => other.track !== null));
    const [net] = waiting.splice(Math.max(0, free), 1) as [Net];
    let track = Math.max(0, ...(before.get(net) ?? []).map((other) => (other.track ?? -1) + 1));
    while (tracks[track]?.some((other) => overlap(net, other))) track += 1;
    (tracks[track] ??= []).push(net);
    net.track = track;
  }
  return tracks.length;
}

/** Chooses columns near the middle, straight below if possible, and none that another net comes down in. */
function arrive({ nets, from, to }: Arrival, sources: ReadonlyMap<number, Net>): void {
  const taken = new Set<number>();
  const middle = Math.floor((from + to) / 2);
  nets.forEach((net, index) => {
    const even = middle - (nets.length - 1) + 2 * index;
    const straight = nets.length === 1 && net.source >= from && net.source <= to ? net.source : even;
    const fits = (column: number): boolean => {
      const stranger = sources.get(column);
      return column >= from && column <= to && !taken.has(column) && (stranger === undefined || stranger === net);
    };
    const column = [straight, straight + 1, straight - 1, straight + 2, straight - 2].find(fits) ?? straight;
    taken.add(column);
    net.targets.push(column);
  });
}

export function spanOf(net: Net): [from: number, to: number] {
  return [Math.min(net.source, ...net.targets), Math.max(net.source, ...net.targets)];
}

function overlap(a: Net, b: Net): boolean {
  const [aFrom, aTo] = spanOf(a);
  const [bFrom, bTo] = spanOf(b);
  return aFrom <= bTo && bFrom <= aTo;
}
