/**
 * A client's connection, as far as gates keep something of it: whose address it was when last asked. Mostly all requests of
 * a connection are one client's, and to find a client among thousands takes a part of what a decision takes.
 */
export class Connection {
  #ip = "";
  #tell: ((ip: string) => unknown) | undefined;
  #told: unknown;

  /** What `tell` says of an address, or what it said of it last time. */
  told<T>(ip: string, tell: (ip: string) => T): T {
    if (this.#ip === ip && this.#tell === tell) return this.#told as T;
    const told = tell(ip);
    this.#ip = ip;
    this.#tell = tell;
    this.#told = told;
    return told;
  }
}

/** What an adapter may say of a request besides its facts. */
export interface OfConnection {
  readonly connection?: Connection;
}

const noted: unique symbol = Symbol("tidegate.connection");

/** Noted with what stands for it: a socket, say. */
export function connectionOf(carrier: object & { [noted]?: Connection }): Connection {
  const known = carrier[noted];
  if (known !== undefined) return known;
  const made = new Connection();
  try {
    carrier[noted] = made;
  } catch {
    // What takes no note is met anew each time.
  }
  return made;
}
