/** One act after the other on each thing, so that nothing changes between looking at it and changing it. */
export type Turns = <T>(thing: string, act: () => Promise<T>) => Promise<T>;

export function turns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return (thing, act) => {
    const turn = (last.get(thing) ?? Promise.resolve()).then(act, act);
    last.set(thing, turn);
    const leave = (): void => {
      if (last.get(thing) === turn) last.delete(thing);
    };
    turn.then(leave, leave);
    return turn;
  };
}
