import type { ListName } from "tidegate";
import { notFound } from "./api-problem.js";

export function listNamed(name: string): ListName {
  if (name === "safelist" || name === "blocklist") return name;
  throw notFound("There is no such list.", "There are safelist and blocklist.");
}
