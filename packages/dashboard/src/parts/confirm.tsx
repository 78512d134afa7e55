import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Role } from "../session.ts";
import { Act } from "./act.tsx";

export interface ConfirmProps {
  readonly needs: Role;
  readonly onAct: () => unknown;
  readonly children: ComponentChildren;
  /** What it is about, for who can not see the row it stands in. */
  readonly about?: string;
  readonly question: string;
  /** What is said to go on with. */
  readonly yes: string;
  readonly kind?: "danger" | undefined;
  /** Why it can not be done now, whoever asks. */
  readonly whyNotNow?: string | undefined;
}

/** A button that asks before it acts. */
export function Confirm({
  needs,
  onAct,
  children,
  about = "",
  question,
  yes,
  kind,
  whyNotNow,
}: ConfirmProps) {
  const [isAsking, setAsking] = useState(false);
  const box = useRef<HTMLSpanElement>(null);
  const isFirst = useRef(true);
  // The button one pressed is gone: what takes its place is where one goes on.
  useEffect(() => {
    if (!isFirst.current) box.current?.querySelector("button")?.focus();
    isFirst.current = false;
  }, [isAsking]);
  return (
    <span class="asking" ref={box}>
      {isAsking ? (
        <>
          {question}{" "}
          <Act
            needs={needs}
            kind="danger"
            about={about}
            whyNotNow={whyNotNow}
            onAct={async () => {
              await onAct();
              setAsking(false);
            }}
          >
            {yes}
          </Act>{" "}
          <button type="button" onClick={() => setAsking(false)}>
            Leave
          </button>
        </>
      ) : (
        <Act needs={needs} kind={kind} about={about} whyNotNow={whyNotNow} onAct={() => setAsking(true)}>
          {children}
        </Act>
      )}
    </span>
  );
}
