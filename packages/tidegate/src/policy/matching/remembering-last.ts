/** For what each rule asks of the same request, and most requests have in common: it is found out when it changes. */
export function rememberingLast<T>(find: (text: string) => T): (text: string) => T {
  let asked: string | undefined;
  let found: T | undefined;
  return (text) => {
    if (text !== asked) {
      found = find(text);
      asked = text;
    }
    return found as T;
  };
}
