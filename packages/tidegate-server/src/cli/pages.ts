const aPage = 500;

/** Asks page after page until there is no more, or enough. A page is a list, or an object that has it under this name. */
export async function pages<T>(
  name: string,
  most: number,
  ask: (count: number, last: T | undefined) => Promise<unknown>,
): Promise<T[]> {
  const all: T[] = [];
  while (all.length < most) {
    const count = Math.min(aPage, most - all.length);
    const page = listed<T>(await ask(count, all.at(-1)), name);
    all.push(...page);
    if (page.length < count) break;
  }
  return all.slice(0, most);
}

export function listed<T>(said: unknown, name: string): T[] {
  if (Array.isArray(said)) return said;
  const list = (said as Record<string, unknown> | undefined)?.[name];
  return Array.isArray(list) ? list : [];
}
