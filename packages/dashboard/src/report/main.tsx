import { render } from "preact";
import type { RehearsalReport } from "../types.ts";
import { Report } from "./report.tsx";
import "../style.css";

/** The page of its own: what it shows stands in it as data. */
const data = document.getElementById("report")?.textContent ?? "";
const report = JSON.parse(data) as RehearsalReport;
render(
  <main>
    <h1>Rehearsal</h1>
    <Report report={report} />
  </main>,
  document.getElementById("app") as HTMLElement,
);
