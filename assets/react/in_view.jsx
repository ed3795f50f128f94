/* Keeps in view what has just changed. */
import { useEffect, useRef } from "react";

/* Scrolls to its parent when that appears out of view, and again for another `of`. */
export function InView({ of }) {
  const mark = useRef(null);
  useEffect(() => {
    mark.current.parentElement.scrollIntoView({ block: "nearest" }); // it returns a promise, which is no cleanup
  }, [of]);
  return <span ref={mark} hidden />;
}

/* Scrolls the change out from under its parent, a bar at the bottom of the page. */
export function Uncovers({ selector }) {
  const mark = useRef(null);
  useEffect(() => {
    const changed = [...document.querySelectorAll(selector)].pop();
    const under = changed ? changed.getBoundingClientRect().bottom + 12 - mark.current.parentElement.getBoundingClientRect().top : 0;
    if (under > 0) window.scrollBy(0, under);
  }, []);
  return <span ref={mark} hidden />;
}
