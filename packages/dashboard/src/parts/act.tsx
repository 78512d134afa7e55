import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type Role, whyNot } from "../session.ts";

export interface ActProps {
  readonly needs: Role;
  readonly onAct: () => unknown;
  readonly children: ComponentChildren;
  /** What it is about, for who can not see the row it stands in. */
  readonly about?: string;
  readonly kind?: "danger" | "main" | undefined;
  /** Why it can not be done now, whoever asks. */
  readonly whyNotNow?: string | undefined;
}

/** A button for something that changes things. Who may not is told why. */
export function Act({ needs, onAct, children, about, kind, whyNotNow }: ActProps) {
  const [isUnderWay, setUnderWay] = useState(false);
  const why = whyNot(needs) ?? whyNotNow;
  async function act(): Promise<void> {
    setUnderWay(true);
    try {
      await onAct();
    } finally {
      setUnderWay(false);
    }
  }
  return (
    <button
      type="button"
      class={kind}
      disabled={why !== undefined || isUnderWay}
      title={why}
      onClick={() => void act()}
    >
      {children}
      {about !== undefined && <span class="unseen"> {about}</span>}
    </button>
  );
}

/** Said once on a page whose controls are switched off. */
export function MayNot({ needs }: { needs: Role }) {
  const why = whyNot(needs);
  return why === undefined ? null : <p class="note">{why}</p>;
}
