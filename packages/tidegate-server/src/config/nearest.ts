/** The known name a misspelt one most likely means: another case or `snake_case`, a slip or two. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  const wanted = bare(given.slice(0, 64));
  let best: string | undefined;
  let bestDistance = Math.min(2, Math.floor(wanted.length / 3)) + 1;
  for (const name of known) {
    const away = distance(wanted, bare(name));
    if (away < bestDistance) {
      best = name;
      bestDistance = away;
    }
  }
  return best;
}

function bare(name: string): string {
  return name.toLowerCase().replace(/[_\s-]/g, "");
}

/** Letters to add, drop, change or swap with their neighbour. */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (last[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min((row[j - 1] as number) + 1, (last[j] as number) + 1, change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (beforeLast[j - 2] as number) + 1);
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] as number;
}
