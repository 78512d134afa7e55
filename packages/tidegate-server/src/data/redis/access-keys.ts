/** Where tokens and sessions stand in Redis: all in one slot, so that a script may use several of them. */
export interface AccessKeys {
  /** Hash: digest to token. */
  readonly tokens: string;
  /** Hash: name to digest, so that no two have one. */
  readonly names: string;
  /** Hash: id to when it was last used. */
  readonly used: string;
  /** Hash: digest to session; and its index by `until`. */
  readonly sessions: string;
  readonly sessionEnds: string;
}

export function accessKeys(prefix: string): AccessKeys {
  const home = `${prefix}:{access}`;
  return {
    tokens: `${home}:tokens`,
    names: `${home}:names`,
    used: `${home}:used`,
    sessions: `${home}:sessions`,
    sessionEnds: `${home}:session-ends`,
  };
}
