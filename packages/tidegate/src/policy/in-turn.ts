/** Runs acts on the same thing one after the other, in the order they came; those on others do not wait. */
export function inTurn(): <T>(id: string, act: () => Promise<T>) => Promise<T> {
  const lastOf = new Map<string, Promise<unknown>>();

  return async (id, act) => {
    const before = lastOf.get(id);
    const own = before === undefined ? act() : before.then(act, act);
    lastOf.set(id, own);
    try {
      return await own;
    } finally {
      if (lastOf.get(id) === own) lastOf.delete(id);
    }
  };
}
