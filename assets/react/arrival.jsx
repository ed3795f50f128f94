/* A page as it was left is not shown to who comes back: until the state tells of this visit, there is the skeleton.
   `place` is the path and query the state was last filled for, `visits` how often it was. */
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
