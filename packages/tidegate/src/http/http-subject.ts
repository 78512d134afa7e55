import type { Subject } from "../subject.js";
import { basicUser } from "./account.js";

/** What an adapter knows of a request. One is made per request, so what few rules ask is found out when asked. */
export abstract class HttpSubject implements Subject {
  ip = "";
  ignoresCase = false;
  user: string | undefined;
  customer: string | undefined;
  readonly method: string;
  readonly path: string;
  #account: string | undefined;
  #isAccountKnown = false;

  constructor(method: string, path: string) {
    this.method = method;
    this.path = path;
  }

  abstract get host(): string;
  abstract header(name: string): string | undefined;

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
