import type { Subject } from "../subject.js";
import { basicUser } from "./account.js";

/** What an adapter knows of a request. One is made per request, so what few rules ask is found out when asked. */
export abstract class HttpSubject implements Subject {
  ip = "";
  user: string | undefined;
  customer: string | undefined;
  readonly method: string;
  readonly path: string;
  #account: string | undefined;
  #isAccountKnown = false;
  #ignoresCase: boolean | undefined;

  constructor(method: string, path: string) {
    this.method = method;
    this.path = path;
  }

  abstract get host(): string;
  abstract header(name: string): string | undefined;

  /** As the app says, else as its router does. */
  get ignoresCase(): boolean {
    this.#ignoresCase ??= this.routerIgnoresCase();
    return this.#ignoresCase;
  }

  set ignoresCase(ignoresCase: boolean) {
    this.#ignoresCase = ignoresCase;
  }

  protected routerIgnoresCase(): boolean {
    return false;
  }

  /** The name the app found, else the one claimed in basic auth. */
  get account(): string | undefined {
    if (!this.#isAccountKnown) this.account = basicUser(this.header("authorization"));
    return this.#account;
  }

  set account(account: string | undefined) {
    this.#account = account;
    this.#isAccountKnown = true;
  }
}
