import type { InputFacts, RehearsalReport } from "../types.ts";
import { Against } from "./against.ts";
import { BeforeAfter } from "./before-after.tsx";
import { Changes } from "./changes.tsx";
import { Clients } from "./clients.tsx";
import { FalsePositives } from "./false-positives.tsx";
import { Heading, Level } from "./heading.tsx";
import { Headline } from "./headline.tsx";
import "./report.css";
import { Foreign } from "../parts/foreign.tsx";
import { Input } from "./input.tsx";
import { Rules } from "./rules.tsx";
import { Suggestions } from "./suggestions.tsx";
import { TrafficPlot } from "./traffic-plot.tsx";

export interface ReportProps {
  readonly report: RehearsalReport;
  /** Of logs: what was read. */
  readonly input?: InputFacts | undefined;
  /** Of its headings. Default 2. */
  readonly level?: 2 | 3;
}

/** What a policy would have done to recorded traffic: what changes first, then the whole. */
export function Report({ report, input, level = 2 }: ReportProps) {
  return (
    <Level.Provider value={level}>
      <Against.Provider value={input?.against}>
        <div class="report">
          <Headline report={report} />
          {report.requests > 0 && <Sections report={report} />}
          <Notes notes={report.notes} />
          {input !== undefined && <Input input={input} />}
        </div>
      </Against.Provider>
    </Level.Provider>
  );
}

function Sections({ report }: { report: RehearsalReport }) {
  const { change, falsePositives, suggestions } = report;
  return (
    <>
      {change !== undefined && <Changes change={change} />}
      <BeforeAfter report={report} />
      <TrafficPlot report={report} />
      <FalsePositives suspicions={falsePositives} />
      <Rules rules={report.rules} />
      <Clients report={report} />
      {suggestions !== undefined && <Suggestions suggestions={suggestions} />}
    </>
  );
}

function Notes({ notes }: { notes: readonly string[] }) {
  if (notes.length === 0) return null;
  return (
    <>
      <Heading>Notes</Heading>
      <ul class="plain">
        {notes.map((note) => (
          <li key={note}>
            <Foreign text={note} most={1_000} />
          </li>
        ))}
      </ul>
    </>
  );
}
