/* Shows the skeleton until the state is filled for this visit, so that a returning user never sees outdated content.
   `place` is the path and query the state was last filled for, `visits` counts how often it was filled. */
import { Children, useRef, useState } from "react";

const whereabouts = () => (typeof window === "undefined" ? null : window.location.pathname + window.location.search);

export function Arrival({ place, visits, children }) {
  const [here] = useState(whereabouts);
  const before = useRef(visits);
  const arrived = useRef(false);
  arrived.current ||= place === here || visits !== before.current;
  const [waiting, shown] = Children.toArray(children);
  return arrived.current ? shown : waiting;
}
