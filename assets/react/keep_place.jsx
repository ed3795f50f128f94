/* Keeps the reader's place while the connection is lost: after it the page loads again, and is short until it has its content. */
import { useEffect, useRef } from "react";

const LONGEST = 15_000;
const MOVES = ["wheel", "touchmove", "keydown", "pointerdown"];

export function KeepPlace({ lost }) {
  const place = useRef(null);
  useEffect(() => {
    if (lost) {
      const note = () => (place.current = window.scrollY);
      note();
      window.addEventListener("scroll", note);
      return () => window.removeEventListener("scroll", note);
    }
    if (!place.current) return undefined;
    const seen = new ResizeObserver(() => {
      if (document.documentElement.scrollHeight >= place.current + window.innerHeight) window.scrollTo(0, place.current);
    });
    const end = () => {
      seen.disconnect();
      clearTimeout(later);
      MOVES.forEach((move) => window.removeEventListener(move, end));
      place.current = null;
    };
    const later = setTimeout(end, LONGEST);
    MOVES.forEach((move) => window.addEventListener(move, end, { passive: true }));
    seen.observe(document.body);
    return end;
  }, [lost]);
  return null;
}
