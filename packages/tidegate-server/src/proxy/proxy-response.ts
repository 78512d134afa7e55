import { type IncomingMessage, ServerResponse } from "node:http";

type Value = number | string | readonly string[];
type Fields = Readonly<Record<string, Value | undefined>>;

/**
 * The answer to a client. It differs from Node's own in two things: what is set beforehand is kept as a flat list, so that
 * an upstream's repeated headers (Set-Cookie) survive beside it, which in Node 20 they do not; and "100 Continue" is said
 * when the upstream is about to get the body, not before the gate was asked.
 */
export class ProxyResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  /** Name, value, name, value. */
  readonly own: string[] = [];
  isContinueAsked = false;

  override writeContinue(): void {
    this.isContinueAsked = true;
  }

  sendContinue(): void {
    this.isContinueAsked = false;
    super.writeContinue();
  }

  override setHeader(name: string, value: Value): this {
    this.removeHeader(name);
    return this.appendHeader(name, typeof value === "number" ? `${value}` : value);
  }

  override appendHeader(name: string, value: string | readonly string[]): this {
    if (typeof value === "string") this.own.push(name, value);
    else for (const each of value) this.own.push(name, each);
    return this;
  }

  override getHeader(name: string): string | undefined {
    const at = this.#find(name);
    return at < 0 ? undefined : this.own[at + 1];
  }

  override hasHeader(name: string): boolean {
    return this.#find(name) >= 0;
  }

  override removeHeader(name: string): void {
    for (let at = this.#find(name); at >= 0; at = this.#find(name)) this.own.splice(at, 2);
  }

  override writeHead(status: number, ...rest: unknown[]): this {
    const given = rest.at(-1);
    if (Array.isArray(given)) return super.writeHead(status, this.own.concat(given));
    if (typeof given === "object" && given !== null) this.#take(given as Fields);
    return super.writeHead(status, this.own);
  }

  #take(fields: Fields): void {
    for (const [name, value] of Object.entries(fields)) {
      if (value !== undefined) this.setHeader(name, value);
    }
  }

  #find(name: string): number {
    const { own } = this;
    for (let i = 0; i < own.length; i += 2) {
      const other = own[i] as string;
      if (other.length === name.length && other.toLowerCase() === name.toLowerCase()) return i;
    }
    return -1;
  }
}
