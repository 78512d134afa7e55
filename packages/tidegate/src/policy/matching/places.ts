/**
 * The paths that rules name, as a tree by characters. A request's path is walked down once and told by the deepest of
 * them it lies under, by whole segments: both lie under the same named paths.
 */
export class Places {
  /** Of each node: the character that leads to it, its first child, its next sibling, the place it ends; 0 is none. */
  readonly #codes: number[] = [0];
  readonly #children: number[] = [0];
  readonly #siblings: number[] = [0];
  readonly #ends: number[] = [0];
  /** The first is the root. */
  readonly #paths: string[] = ["/"];

  /** How many there are, numbered from 0. */
  get count(): number {
    return this.#paths.length;
  }

  /** Normalised, as readings are. */
  pathOf(place: number): string {
    return this.#paths[place] as string;
  }

  add(path: string): void {
    if (path.length === 1) return;
    let node = 0;
    for (let at = 0; at < path.length; at++) node = this.#childFor(node, path.charCodeAt(at));
    if (this.#ends[node] === 0) this.#ends[node] = this.#paths.push(path) - 1;
  }

  /** Where a request's path lies; -1 when it can be read in more ways than as it stands, which is seldom. */
  find(target: string): number {
    const codes = this.#codes;
    const children = this.#children;
    const siblings = this.#siblings;
    const ends = this.#ends;
    if (target.charCodeAt(0) !== slash) return -1;
    let place = 0;
    let node = children[0] as number;
    let previous = slash;
    for (let at = 1; at < target.length; at++) {
      const code = target.charCodeAt(at);
      if (code >= 128 || isPlain[code] === 0) {
        if (code === questionMark || code === hash) break;
        return -1;
      }
      if (code === slash) {
        if (previous === slash) return -1;
        // A slash at the end leads nowhere.
        if (node !== 0 && ends[node] !== 0) place = ends[node] as number;
      } else if (previous === slash && code === dot) return -1;
      previous = code;
      if (node === 0) continue;
      node = children[node] as number;
      while (node !== 0 && codes[node] !== code) node = siblings[node] as number;
    }
    return node !== 0 && ends[node] !== 0 ? (ends[node] as number) : place;
  }

  #childFor(node: number, code: number): number {
    let child = this.#children[node] as number;
    while (child !== 0 && this.#codes[child] !== code) child = this.#siblings[child] as number;
    if (child !== 0) return child;
    child = this.#codes.push(code) - 1;
    this.#siblings.push(this.#children[node] as number);
    this.#children.push(0);
    this.#ends.push(0);
    this.#children[node] = child;
    return child;
  }
}

const slash = 47;
const dot = 46;
const questionMark = 63;
const hash = 35;

/** Characters of which a path is made that can be read as it stands only, by their codes. */
const isPlain = new Uint8Array(128);
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,=:@/")
  isPlain[character.charCodeAt(0)] = 1;
