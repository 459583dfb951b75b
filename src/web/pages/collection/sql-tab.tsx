import { CopyButton } from '../../shared/copy-button.js';
import classes from './page.module.css';

/** @param props.sql from the service, without the draft */
export function SqlTab({ sql }: { sql: string }) {
  return (
    <div className={classes.copied}>
      <pre className={classes.sql} tabIndex={0} aria-label="CREATE TABLE">
        {sql}
      </pre>
      <CopyButton text={sql} label="Copy statement" />
    </div>
  );
}
