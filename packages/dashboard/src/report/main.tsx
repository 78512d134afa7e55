import { render } from "preact";
import type { InputFacts, RehearsalReport } from "../types.ts";
import { Report } from "./report.tsx";
import "../style.css";

/** The page of its own: what it shows stands in it as data. */
const data = document.getElementById("report")?.textContent ?? "";
const report = JSON.parse(data) as RehearsalReport & { readonly input?: InputFacts };
render(
  <main>
    <h1>Rehearsal</h1>
    <Report report={report} input={report.input} />
  </main>,
  document.getElementById("app") as HTMLElement,
);
