/** The styles of every page, in an order in which ours take precedence. */
import '@mantine/core/styles.css';
import '@mantine/spotlight/styles.css';
import './styles.css';
