/** Submissions of workflows with very many steps, named `s0`, `s1` and so on. */

const WIDTH = 1_000;

export interface LargeGraph {
  /** The submission as JSON. */
  text: (count: number) => string;
  parentsOf: (place: number, count: number) => number[];
}

/** Lists the last step first, so that the server has to sort the steps. */
export function chain(count: number): string {
  return submission('chain', steps(count, chainParents).reverse());
}

function chainParents(place: number): number[] {
  return place === 0 ? [] : [place - 1];
}

/** One parent of all middle steps, and one last step that waits for all of them. */
function wideParents(place: number, count: number): number[] {
  if (place === 0) return [];
  return place < count - 1 ? [0] : Array.from({ length: count - 2 }, (_, index) => index + 1);
}

/** Layers of a thousand; each step waits for two of the layer before. */
function layerParents(place: number): number[] {
  if (place < WIDTH) return [];
  const start = place - (place % WIDTH) - WIDTH;
  return [place - WIDTH, start + ((place + 1) % WIDTH)];
}

export const GRAPHS: Readonly<Record<string, LargeGraph>> = {
  chain: { text: chain, parentsOf: chainParents },
  wide: { text: (count) => submission('wide', steps(count, wideParents)), parentsOf: wideParents },
  layers: { text: (count) => submission('layers', steps(count, layerParents)), parentsOf: layerParents },
};

function steps(count: number, parentsOf: LargeGraph['parentsOf']): string[] {
  return Array.from({ length: count }, (_, place) => {
    const parents = parentsOf(place, count).map((parent) => `"s${parent}"`);
    const dependsOn = parents.length === 0 ? '' : `,"depends_on":[${parents.join(',')}]`;
    return `{"key":"s${place}","command":"true"${dependsOn}}`;
  });
}

function submission(name: string, list: readonly string[]): string {
  return `{"name":"${name}","steps":[${list.join(',')}]}`;
}
