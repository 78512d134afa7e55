import type { LogFormat } from "../line-parser.js";
import { type Facts, requestOf } from "../request-of.js";
import { jsonObject } from "./json-object.js";

/** An object a line, its names nginx's own (`escape=json`), or what others call the same. */
export const nginxJson: LogFormat = {
  name: "json",
  isLike: (line) => {
    const facts = jsonObject(line);
    return facts !== undefined && requestOf(facts, {}) !== undefined;
  },
  open: (terms) => (text, from, to) => {
    const facts = jsonObject(text.substring(from, to));
    return facts && requestOf(facts as Facts, terms);
  },
};
