import { Composer, type CST, type Document, Lexer, type ParsedNode, Parser, type YAMLParseError } from "yaml";
import type { ProblemList, Words } from "./problem-list.js";
import { printable } from "./shown.js";
import type { Source } from "./source.js";

export type YamlDocument = Document.Parsed<ParsedNode>;

/** Maps and lists within each other; the deepest setting there is takes 9. */
export const deepest = 32;
/** What the lexer tells apart: a long list has five to an entry. */
const mostLexemes = 300_000;

/** The one YAML 1.2 document of a source; undefined when there are problems. What it takes is bounded, whatever is written. */
export function yamlDocument(source: Source, problems: ProblemList): YamlDocument | undefined {
  const tokens = tokensOf(source, problems);
  return tokens && withoutTraces(() => onlyDocument(tokens, source, problems));
}

function onlyDocument(tokens: CST.Token[], source: Source, problems: ProblemList): YamlDocument | undefined {
  // Keys are compared by whoever walks the tree: the composer would compare each with all others.
  const composer = new Composer<ParsedNode>({
    version: "1.2",
    schema: "core",
    merge: false,
    resolveKnownTags: false,
    stringKeys: true,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "silent",
  });
  let document: YamlDocument | undefined;
  for (const next of composer.compose(tokens, true, source.text.length)) {
    if (document !== undefined) {
      problems.addAt(next.range[0], manyDocuments);
      return undefined;
    }
    document = next;
    tellErrors(next.errors, source, problems);
    if (next.directives.yaml.explicit === true && next.directives.yaml.version !== "1.2")
      problems.addAt(0, otherVersion);
  }
  return problems.isEmpty ? document : undefined;
}

/** A text may have an error at every second character, and to find out where in the code each was made takes longer than all the rest. */
function withoutTraces<T>(act: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return act();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function tellErrors(errors: readonly YAMLParseError[], { text }: Source, problems: ProblemList): void {
  const [first] = errors;
  if (first !== undefined && isIndentation(first, errors, text))
    problems.addAt(textFrom(first.pos[0], text), wrongIndentation);
  else for (const error of tellingOf(errors)) problems.addAt(error.pos[0], wordsOf(error));
}

/** Where the text of a line begins, not its blanks. */
function textFrom(offset: number, text: string): number {
  let at = offset;
  while (text[at] === " ") at++;
  return at;
}

function tokensOf({ text }: Source, problems: ProblemList): CST.Token[] | undefined {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    const tooMuch = parser.stack.length > deepest ? tooDeep : ++lexemes > mostLexemes ? tooMany : undefined;
    if (tooMuch === undefined) continue;
    problems.addAt(parser.offset, tooMuch);
    return undefined;
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

export const tooDeep: Words = {
  code: "TG_CONFIG_LARGE",
  message: `Maps and lists stand more than ${deepest} deep within each other.`,
  help: "No setting is that deep: look for an indentation or a bracket too many.",
};

export const tooMany: Words = {
  code: "TG_CONFIG_LARGE",
  message: "It says more than any configuration has to.",
  help: "Keep long lists of addresses in the safelist and blocklist of the running server.",
};

const manyDocuments: Words = {
  code: "TG_CONFIG_YAML",
  message: "A second document begins here.",
  help: 'One file is one configuration: remove the "---" or "..." and what follows.',
};

const otherVersion: Words = {
  code: "TG_CONFIG_YAML",
  message: "It asks for another version of YAML.",
  help: "Remove the %YAML line: files are read as YAML 1.2.",
};

/** After the first slip the rest is most often misread: what only follows from it is not told. */
function tellingOf(errors: readonly YAMLParseError[]): YAMLParseError[] {
  return errors.filter(({ code }, i) => i === 0 || code !== "UNEXPECTED_TOKEN").slice(0, 3);
}

/** Most slips are of the indentation, and a parser that goes on by what it sees blames something else for them. */
function isIndentation(error: YAMLParseError, others: readonly YAMLParseError[], text: string): boolean {
  const { code, message, pos } = error;
  if (/^Sequence item without - indicator|^A block sequence may not/.test(message)) return true;
  if (code === "BLOCK_AS_IMPLICIT_KEY")
    return others.some((other) => other.code === "MULTILINE_IMPLICIT_KEY" && other.pos[0] === pos[0]);
  const line = text.slice(text.lastIndexOf("\n", pos[0] - 1) + 1, pos[0]);
  return code === "UNEXPECTED_TOKEN" && pos[0] > line.length && line.trim() === "";
}

const wrongIndentation: Words = {
  code: "TG_CONFIG_YAML",
  message: "This is not YAML: the indentation of this line, or of the next, does not fit those around it.",
  help: 'Give everything of one map or list the same indentation, with spaces, and what is within it two more. If it is right, put quotes around a text that has ": " in it.',
};

function wordsOf({ code, message }: YAMLParseError): Words {
  const isOpen = message.startsWith("Flow ") && message.includes("end with a");
  return {
    code: "TG_CONFIG_YAML",
    message: `This is not YAML: ${printable(withoutQuote(message)).slice(0, 200)}.`,
    help:
      helps[isOpen ? "MISSING_CHAR" : code] ??
      "Quotes around a text, two spaces for each step in, and a blank after a colon help most often.",
  };
}

/** What stands there may be a secret. */
function withoutQuote(message: string): string {
  return message.replace(/: ".*$/s, "").replace(/\.$/, "");
}

const helps: Partial<Record<YAMLParseError["code"], string>> = {
  TAB_AS_INDENT: "Indent with spaces: YAML takes no tabs there.",
  BAD_ALIAS: "Write it out in place of the alias, or put quotes around a text that begins with *.",
  BAD_INDENT: "Give everything of one map or list the same indentation, with spaces.",
  BLOCK_AS_IMPLICIT_KEY:
    'Put quotes around a text that has ": " in it, and each setting on a line of its own.',
  MISSING_CHAR: "Close what was opened: a quote, a bracket or a brace; or put a comma between two entries.",
  NON_STRING_KEY: "The name of a setting is a plain text.",
  UNEXPECTED_TOKEN:
    "Put quotes around a text with characters that mean something in YAML: * & ! @ ` % # : { } [ ].",
  BAD_SCALAR_START: "Put quotes around a text that begins with @, ` or %.",
  MULTILINE_IMPLICIT_KEY: "The name of a setting stands on one line, with a colon and a blank behind it.",
  TAG_RESOLVE_FAILED: "Tags are not read: drop it, and put quotes around a text.",
};
