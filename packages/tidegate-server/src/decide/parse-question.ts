import type { DecideOptions } from "tidegate";
import { isAddress } from "tidegate/http";
import { cutAccount, cutHost, cutPath, cutText, nameText } from "../fact-text.js";
import type { Caller } from "./callers.js";
import { badQuestion, peerUndeclared, QuestionError, tooLarge } from "./problems.js";
import { type ToldHeaders, ToldSubject } from "./told-subject.js";

/** One subject to be judged, and how. */
export interface Question {
  readonly subject: ToldSubject;
  readonly options: DecideOptions;
}

export interface Questions {
  readonly questions: readonly Question[];
  /** Asked as `subjects`, so answered as `decisions`. */
  readonly isMany: boolean;
  /** The caller lets rules that delay keep it waiting. */
  readonly waits: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const mostSubjects = 1000;

const questionNames: ReadonlySet<string> = new Set(["subject", "subjects", "rule", "cost", "id", "wait"]);
const subjectNames: ReadonlySet<string> = new Set([
  "ip",
  "method",
  "host",
  "path",
  "headers",
  "user",
  "customer",
  "account",
  "rule",
  "cost",
  "id",
]);

/** Rules that delay refuse instead: whoever asks over HTTP has seldom the patience, and would let the client pass. */
const atOnce: DecideOptions = { signal: AbortSignal.abort() };

/** Reads a body by hand: this stands in every question's way. Throws `QuestionError`. */
export function parseQuestions(body: unknown, caller: Caller): Questions {
  const fields = fieldsOf(body, "The body");
  validateNames(fields, questionNames, "The body");
  const waits = fields.wait === true;
  const { subject, subjects } = fields;
  if (subjects === undefined) {
    const question = questionOf(fieldsOf(subject, "subject"), fields, caller, "subject");
    return { questions: [question], isMany: false, waits };
  }
  if (!Array.isArray(subjects) || subject !== undefined)
    throw bad("Send either subject, an object, or subjects, a list of such.");
  if (subjects.length > mostSubjects)
    throw new QuestionError(tooLarge(`One question has ${mostSubjects} subjects at most.`));
  const questions = subjects.map((each, i) => {
    const where = `subjects[${i}]`;
    return questionOf(fieldsOf(each, where), fields, caller, where);
  });
  return { questions, isMany: true, waits };
}

/** The subject alone, for questions that charge nothing. */
export function parseSubject(told: unknown, caller: Caller, where: string): ToldSubject {
  return subjectOf(fieldsOf(told, where), caller, where);
}

function questionOf(told: Fields, around: Fields, caller: Caller, where: string): Question {
  const subject = subjectOf(told, caller, where);
  const rule = told.rule ?? around.rule;
  const cost = told.cost ?? around.cost;
  const id = told.id ?? around.id;
  if (rule == null && cost == null && id == null) return { subject, options: atOnce };
  // Whoever chooses what it weighs, or names its charges alike, passes every limit.
  if (!caller.isBelieved && (cost != null || id != null)) throw new QuestionError(peerUndeclared);
  const options = { ...atOnce };
  if (rule != null) options.rule = textOf(rule, "rule");
  if (cost != null) options.cost = costOf(cost);
  if (id != null) options.id = idOf(id);
  return { subject, options };
}

function subjectOf(told: Fields, caller: Caller, where: string): ToldSubject {
  validateNames(told, subjectNames, where);
  // Whatever stands there, null too: a claim that names nobody must not pass for the caller's own request.
  const isClaim =
    told.ip !== undefined ||
    told.user !== undefined ||
    told.customer !== undefined ||
    told.account !== undefined ||
    told.headers !== undefined;
  if (isClaim && !caller.isBelieved) throw new QuestionError(peerUndeclared);
  const ip = optionalText(told.ip, where, "ip", cutText);
  if (ip !== undefined && !isAddress(ip)) throw noAddress(ip, where);
  return new ToldSubject(ip ?? (isClaim ? "" : caller.ip), {
    method: optionalText(told.method, where, "method", cutText),
    host: optionalText(told.host, where, "host", cutHost),
    path: optionalText(told.path, where, "path", cutPath),
    user: optionalName(told.user, cutText),
    customer: optionalName(told.customer, cutText),
    account: optionalName(told.account, cutAccount),
    headers: headersOf(told.headers, where),
  });
}

/** A misspelt field would be judged as if it were left out. */
function validateNames(fields: Fields, known: ReadonlySet<string>, where: string): void {
  for (const name in fields) if (!known.has(name)) throw unknownNames(fields, known, where);
}

function unknownNames(fields: Fields, known: ReadonlySet<string>, where: string): QuestionError {
  const unknown = Object.keys(fields).filter((name) => !known.has(name));
  const shown = unknown.slice(0, 5).map((name) => JSON.stringify(name.slice(0, 64)));
  return bad(`${where} has fields nobody knows: ${shown.join(", ")}. Known are ${[...known].join(", ")}.`);
}

function fieldsOf(value: unknown, where: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw bad(
    `${where} is not an object. Send {"subject":{"ip":"203.0.113.7","method":"GET","host":"example.com","path":"/"}}.`,
  );
}

/** What every request has as text: something else is the caller's own mistake. */
function optionalText(
  value: unknown,
  where: string,
  name: string,
  cut: (text: string) => string,
): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return cut(value);
  throw bad(`${where}.${name} is not a text.`);
}

/** What may come straight from a client's form or JSON: of the wrong type it names nobody, and the request is judged without it. */
function optionalName(value: unknown, cut: (text: string) => string): string | undefined {
  if (value === undefined) return undefined;
  const text = nameText(value);
  return text === undefined ? undefined : cut(text);
}

/** Judged as it is, it would be counted as one client with all others that are none. */
function noAddress(ip: string, where: string): QuestionError {
  const shown = JSON.stringify(ip.slice(0, 64));
  return bad(
    `${where}.ip is no address: ${shown}. Write the client's own, one, e.g. 203.0.113.7 (of X-Forwarded-For the one your proxy added), or leave ip out.`,
  );
}

function headersOf(value: unknown, where: string): ToldHeaders | undefined {
  return value === undefined || value === null ? undefined : fieldsOf(value, `${where}.headers`);
}

function textOf(value: unknown, name: string): string {
  if (typeof value === "string") return value;
  throw bad(`${name} is not a text.`);
}

function idOf(value: unknown): string {
  if (typeof value === "string" && value !== "" && value.length <= 256) return value;
  throw bad("id is not a text of 1 to 256 characters.");
}

function costOf(value: unknown): number {
  if (typeof value === "number" && value > 0 && value <= Number.MAX_SAFE_INTEGER) return value;
  throw bad(`cost is not a number above 0 and up to ${Number.MAX_SAFE_INTEGER}.`);
}

function bad(detail: string): QuestionError {
  return new QuestionError(badQuestion(detail));
}
