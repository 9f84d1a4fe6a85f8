"""What the scripts of jobs share: command lines, folders of unfinished work, a run of fine-tuning."""
