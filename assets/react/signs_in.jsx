/* A form that first asks the server, then is posted by the browser: only a native post sets the session cookie. */
import { useEffect, useRef } from "react";

export function SignsIn({ ready = false, action, onSubmit, children, ...props }) {
  const form = useRef(null);
  useEffect(() => {
    if (ready) HTMLFormElement.prototype.submit.call(form.current);
  }, [ready]);
  const ask = (event) => {
    event.preventDefault();
    onSubmit(Object.fromEntries(new FormData(form.current)));
  };
  return (
    <form {...props} ref={form} method="post" action={action} onSubmit={ask}>
      {children}
    </form>
  );
}
