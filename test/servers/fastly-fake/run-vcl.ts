import { createHash } from "node:crypto";
import { lintText } from "falco-js";
import { parseAddress } from "../../../packages/tidegate/src/policy/identity/address.js";

/** A request as it comes to a Fastly service, and what the cache has for it. */
export interface VclRequest {
  readonly method?: string;
  readonly url?: string;
  /** Byte strings: one character, one byte. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly ip?: string;
  readonly restarts?: number;
  /** How often this service saw it before: 1 at a shield. */
  readonly visits?: number;
  /** What is cached; `pass` is what can not be. */
  readonly cache?: "fresh" | "stale" | "nothing" | "pass";
  /** An error the origin or somebody's VCL raises. */
  readonly error?: { readonly status: number; readonly response: string };
}

export interface VclOutcome {
  readonly from: "origin" | "cache" | "stale" | "synthetic";
  readonly status: number;
  readonly response: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The request's headers as whoever answered saw them. */
  readonly asked: Readonly<Record<string, string>>;
  /** Subroutines and states it went through. */
  readonly trace: readonly string[];
}

export interface VclService {
  readonly tables: Readonly<Record<string, ReadonlyMap<string, string>>>;
  /** Seconds since the epoch. */
  now(): number;
}

type Value = string | number | boolean | undefined;
/** A node of falco's syntax tree. */
interface Node {
  readonly Token: { readonly Type: string };
  readonly [field: string]: unknown;
}

class Ended {
  constructor(readonly state: string) {}
}

/** Runs VCL as falco reads it: only what Tidegate's own needs, and anything else throws. */
export async function vclRunner(
  text: string,
  service: VclService,
): Promise<(request: VclRequest) => VclOutcome> {
  const { Vcl, Errors } = await lintText(text, { autoAddIncludes: false, diagnosticsOnly: false });
  if (Vcl === undefined || Errors > 0) throw new Error("this VCL can not be run");
  const nodes = Vcl.AST.Statements as readonly Node[];
  const subs = new Map(
    nodes
      .filter(({ Token }) => Token.Type === "SUBROUTINE")
      .map((sub) => [nameOf(sub.Name), blockOf(sub.Block)]),
  );
  return (request) => walk(subs, service, request);
}

const nameOf = (node: unknown): string => String((node as Node).Value);
const blockOf = (node: unknown): readonly Node[] => (node as { Statements: readonly Node[] }).Statements;

/** recv, then lookup or pass, then miss or pass, then the origin: errors go to vcl_error. */
function walk(
  subs: ReadonlyMap<string, readonly Node[]>,
  service: VclService,
  request: VclRequest,
): VclOutcome {
  const { method = "GET", url = "/", headers = {}, ip = "203.0.113.7", cache = "nothing" } = request;
  const trace: string[] = [];
  const variables = new Map<string, Value>([
    ["req.method", method],
    ["req.url", url],
    ["req.url.path", url.split("?", 1)[0]],
    ["client.ip", ip],
    ["req.restarts", request.restarts ?? 0],
    ["fastly.ff.visits_this_service", request.visits ?? 0],
    ["now.sec", String(service.now())],
    ["stale.exists", cache === "stale" ? "1" : undefined],
    ...Object.entries(headers).map(([name, value]): [string, Value] => [
      `req.http.${name}`.toLowerCase(),
      value,
    ]),
  ]);
  let body = "";

  const get = (name: string): Value => variables.get(canonical(name));
  const set = (name: string, value: Value): void => void variables.set(canonical(name), value);
  const beginning = (with_: string): Record<string, string> =>
    Object.fromEntries(
      [...variables].flatMap(([name, value]) =>
        name.startsWith(with_) && value !== undefined ? [[name.slice(with_.length), String(value)]] : [],
      ),
    );

  const acts: Readonly<Record<string, (node: Node) => void>> = {
    DECLARE: ({ Name }) => set(nameOf(Name), undefined),
    SET: assign,
    UNSET: ({ Ident }) => void variables.delete(canonical(nameOf(Ident))),
    CALL: ({ Subroutine }) => called(nameOf(Subroutine)),
    IF: branch,
    ERROR: ({ Code, Argument }) => {
      set("obj.status", evaluate(Code));
      set("obj.response", evaluate(Argument));
      throw new Ended("error");
    },
    RETURN: ({ ReturnExpression }) => {
      throw new Ended(nameOf(ReturnExpression));
    },
    SYNTHETIC: ({ Value }) => {
      body = String(evaluate(Value));
    },
  };

  function assign({ Ident, Operator, Value }: Node): void {
    const name = nameOf(Ident);
    const value = evaluate(Value);
    const { Operator: sign } = Operator as { Operator: string };
    if (sign !== "=" && sign !== "-=") throw new Error(`no ${sign} here`);
    set(name, sign === "=" ? value : Number(get(name)) - Number(value));
  }

  function branch(node: Node): void {
    const branches = [node, ...((node.Another as Node[] | null) ?? [])];
    const taken = branches.find(({ Condition }) => truth(evaluate(Condition)));
    const block = taken === undefined ? node.Alternative : taken.Consequence;
    if (block) run(blockOf(block));
  }

  function enter(sub: string): string {
    trace.push(sub);
    try {
      run(subs.get(`vcl_${sub}`) ?? []);
      return "";
    } catch (ended) {
      if (ended instanceof Ended) return ended.state;
      throw ended;
    }
  }

  function run(statements: readonly Node[]): void {
    for (const statement of statements) step(statement);
  }

  function step(node: Node): void {
    const act = acts[node.Token.Type];
    if (act === undefined) throw new Error(`no ${node.Token.Type} here`);
    act(node);
  }

  /** Locals are the called one's own. */
  function called(name: string): void {
    const block = subs.get(name);
    if (block === undefined) throw new Error(`no subroutine ${name}`);
    const locals = [...variables].filter(([each]) => each.startsWith("var."));
    for (const [each] of locals) variables.delete(each);
    run(block);
    for (const each of [...variables.keys()]) if (each.startsWith("var.")) variables.delete(each);
    for (const [each, value] of locals) variables.set(each, value);
  }

  function evaluate(given: unknown): Value {
    const node = given as Node;
    if (node.Function !== undefined) return apply(nameOf(node.Function), node.Arguments as Node[]);
    if (node.Condition !== undefined)
      return evaluate(truth(evaluate(node.Condition)) ? node.Consequence : node.Alternative);
    if (node.Operator !== undefined) return operate(String(node.Operator), node.Left, node.Right);
    if (node.Right !== undefined) return evaluate(node.Right);
    return node.Token.Type === "IDENT" ? get(nameOf(node)) : (node.Value as Value);
  }

  function operate(operator: string, left: unknown, right: unknown): Value {
    switch (operator) {
      case "!":
        return !truth(evaluate(right));
      case "&&":
        return truth(evaluate(left)) && truth(evaluate(right));
      case "||":
        return truth(evaluate(left)) || truth(evaluate(right));
      case "==":
        return evaluate(left) === evaluate(right);
      case "!=":
        return evaluate(left) !== evaluate(right);
      case ">":
        return Number(evaluate(left)) > Number(evaluate(right));
      case "~":
        return new RegExp(String(evaluate(right))).test(String(evaluate(left) ?? ""));
      case "+":
        return `${evaluate(left) ?? ""}${evaluate(right) ?? ""}`;
      default:
        throw new Error(`no ${operator} here`);
    }
  }

  function apply(name: string, given: readonly Node[]): Value {
    if (name === "table.lookup") {
      const [table, key, otherwise] = given as [Node, Node, Node];
      return service.tables[nameOf(table)]?.get(String(evaluate(key))) ?? evaluate(otherwise);
    }
    const known = functions[name];
    if (known === undefined) throw new Error(`no ${name} here`);
    return known(...given.map(evaluate));
  }

  function outcome(from: VclOutcome["from"], status = 200, response = "OK"): VclOutcome {
    return {
      from,
      status,
      response,
      headers: beginning("obj.http."),
      body,
      asked: beginning("req.http."),
      trace,
    };
  }

  function failed(): VclOutcome {
    const state = enter("error");
    trace.push(state);
    if (state === "deliver_stale") return outcome("stale");
    return outcome("synthetic", Number(get("obj.status")), String(get("obj.response")));
  }

  if (enter("recv") === "error") return failed();
  if (request.error !== undefined) {
    set("obj.status", request.error.status);
    set("obj.response", request.error.response);
    return failed();
  }
  const isPassed = cache === "pass" || (method !== "GET" && method !== "HEAD");
  if (!isPassed) {
    trace.push("lookup");
    if (cache === "fresh") return outcome("cache");
  }
  return enter(isPassed ? "pass" : "miss") === "error" ? failed() : outcome("origin");
}

/** Header names are written in any case. */
function canonical(name: string): string {
  return /^(?:req|obj)\.http\./.test(name) ? name.toLowerCase() : name;
}

/** A text is true when it is set, even to nothing. */
function truth(value: Value): boolean {
  return typeof value === "boolean" ? value : value !== undefined;
}

const hash = (name: string) => (text: Value) =>
  createHash(name)
    .update(String(text ?? ""), "latin1")
    .digest("hex");

const functions: Readonly<Record<string, (...given: Value[]) => Value>> = {
  "std.strlen": (text) => String(text ?? "").length,
  "std.tolower": (text) => String(text ?? "").replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
  "std.toupper": (text) => String(text ?? "").replace(/[a-z]/g, (letter) => letter.toUpperCase()),
  "std.itoa": (number, base = 10) => Number(number).toString(Number(base)),
  "std.atoi": (text) => Number.parseInt(String(text), 10),
  "digest.hash_sha256": hash("sha256"),
  "digest.hash_sha1": hash("sha1"),
  regsub: (text, pattern, by) =>
    String(text ?? "").replace(new RegExp(String(pattern)), String(by).replaceAll("\\", "$")),
  "addr.is_ipv6": (ip) => String(ip).includes(":"),
  /** Bit 0 is the last one. */
  "addr.extract_bits": (ip, start, count) => {
    const { a = 0, b = 0, c = 0, d = 0 } = parseAddress(String(ip)) ?? {};
    const bits = [a, b, c, d].reduce((all, word) => (all << 32n) | BigInt(word), 0n);
    return Number((bits >> BigInt(Number(start))) & ((1n << BigInt(Number(count))) - 1n));
  },
};
