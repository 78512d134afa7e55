/** Tunnels of one process: each takes two descriptors and, silent as it may be, is never cut. */
const most = 10_000;
/** Tunnels of one client. */
const mostOfOne = 1000;

/** Counts tunnels that are open or asked for. Answers how to give a place back, or undefined when there is none. */
export function tunnelPlaces(limits = { most, mostOfOne }): (client: string) => (() => void) | undefined {
  const taken = new Map<string, number>();
  let all = 0;

  function leave(client: string): void {
    all--;
    const rest = (taken.get(client) as number) - 1;
    if (rest === 0) taken.delete(client);
    else taken.set(client, rest);
  }

  return (client) => {
    const own = taken.get(client) ?? 0;
    if (all >= limits.most || own >= limits.mostOfOne) return undefined;
    all++;
    taken.set(client, own + 1);
    return () => leave(client);
  };
}
