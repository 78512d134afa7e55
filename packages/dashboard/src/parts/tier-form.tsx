import { useState } from "preact/hooks";
import { whyNot } from "../session.ts";

/** Null is the default tier. */
export function TierForm(props: { now: string | null; onSet: (tier: string | null) => Promise<void> }) {
  const [tier, setTier] = useState(props.now ?? "");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void props.onSet(tier.trim() === "" ? null : tier.trim());
      }}
    >
      <fieldset disabled={whyNot("operator") !== undefined}>
        <div class="row">
          <label>
            Tier (empty: the default one)
            <input maxLength={64} value={tier} onInput={(event) => setTier(event.currentTarget.value)} />
          </label>
          <button type="submit" class="main" title={whyNot("operator")}>
            Set the tier
          </button>
        </div>
      </fieldset>
    </form>
  );
}
